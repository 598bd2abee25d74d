npx mcpx keys new --keys-file state.keys
