import { createServer, sealedState } from '@x/server'
import { memoryStore } from '@x/state-codec'
import { serveStdio } from '@x/transport-stdio'
import { info, keys, plain, tools } from '../searched-tools.ts'

const idempotency = { store: memoryStore() }
serveStdio(createServer({ ...info, tools, state: sealedState({ keys }), extensions: plain(), idempotency }))
