// The official server of 2025-11-25 with an extension, over stdio.
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createExtendedServer } from '../extended-v1-server.ts'

void createExtendedServer().connect(new StdioServerTransport())
