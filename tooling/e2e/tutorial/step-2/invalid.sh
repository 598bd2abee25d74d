npx mcpx call "node server.mjs" price --args '{"cake":"plum"}'
