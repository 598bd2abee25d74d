import { httpHandler } from '@x/transport-http'
import { createRuntimeServer } from '../../../src/server.ts'

export const POST = httpHandler(createRuntimeServer())
