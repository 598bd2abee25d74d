import { createMcpHandler } from '@modelcontextprotocol/server'
import { createEcho, serveOfficial } from './official-v2-echo.ts'

await serveOfficial(createMcpHandler(createEcho))
