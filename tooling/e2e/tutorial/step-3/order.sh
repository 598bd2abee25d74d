npx mcpx call "node server.mjs" order --args '{"cake":"cheese"}'
