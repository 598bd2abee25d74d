import { serveHttp } from '@x/transport-http/node'
import { server } from './server.js'

// Behind a proxy, list the public names of the server: ALLOWED_HOSTS=mcp.example.com
const { PORT = '3000', HOST = '127.0.0.1', ALLOWED_HOSTS } = process.env
const allowedHosts = ALLOWED_HOSTS?.split(',')
const http = await serveHttp(server, {
  port: Number(PORT),
  host: HOST,
  stopOnSignals: true,
  ...(allowedHosts && { allowedHosts }),
})
console.log(http.url)
