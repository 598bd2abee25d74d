npx mcpx list "node server.mjs"
npx mcpx call "node server.mjs" price --args '{"cake":"apple"}'
