import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { officialServers } from '../interop/official-server.ts'

serveStdio(officialServers(), { legacy: 'reject' })
