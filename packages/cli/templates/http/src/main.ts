import { serveHttp } from '@x/transport-http/node'
import { server } from './server.js'

// The names in the URLs that clients use, such as ALLOWED_HOSTS=mcp.example.com
const { PORT = '3000', HOST = '127.0.0.1', ALLOWED_HOSTS = 'localhost,127.0.0.1' } = process.env
const http = await serveHttp(server, {
  port: Number(PORT),
  host: HOST,
  stopOnSignals: true,
  allowedHosts: ALLOWED_HOSTS.split(','),
})
console.log(http.url)
