import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { officialServers } from '../interop/official-server.ts'

const servers = officialServers(async (server, uri) => {
  server.sendToolListChanged()
  await server.server.sendResourceUpdated({ uri })
})
serveStdio(servers, { legacy: 'reject' })
