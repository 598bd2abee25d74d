import { createServer } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import { ourDefinition } from '../interop/our-definition.ts'

serveStdio(createServer(ourDefinition()))
