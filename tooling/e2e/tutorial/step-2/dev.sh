npx mcpx dev "node server.mjs"
