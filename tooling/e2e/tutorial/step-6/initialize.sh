curl --silent --show-error --write-out '\n' http://127.0.0.1:3000/mcp \
  --header 'content-type: application/json' --header 'accept: application/json, text/event-stream' \
  --data '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"curl","version":"1.0.0"}}}'
