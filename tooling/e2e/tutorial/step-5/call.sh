npx mcpx list http://127.0.0.1:3000/mcp
npx mcpx call http://127.0.0.1:3000/mcp price --args '{"cake":"cheese"}'
