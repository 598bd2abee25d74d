import { readFileSync } from 'node:fs'
import { sealedState } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { createBakery } from './bakery.mjs'

const keys = (process.env.STATE_KEYS ?? readFileSync('state.keys', 'utf8')).trim().split(/[\s,]+/)
const server = createBakery({ state: sealedState({ keys }) })
const http = await serveHttp(server, {
  port: Number(process.env.PORT ?? 3000),
  host: process.env.HOST ?? '127.0.0.1',
  allowedHosts: process.env.ALLOWED_HOSTS?.split(','),
  stopOnSignals: true,
})
console.log(`Serving ${http.url}`)
