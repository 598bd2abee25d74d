import { appendFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { connectRedis } from '@tooling/real-servers/redis'
import { legacy } from '@x/legacy'
import { createServer, sealedState, tool } from '@x/server'
import { postgresBus } from '@x/server/postgres'
import { redisBus } from '@x/server/redis'
import { postgresStore } from '@x/state-codec/postgres'
import { redisStore } from '@x/state-codec/redis'
import { serveHttp } from '@x/transport-http/node'
import { Pool } from 'pg'
import * as z from 'zod'

const { STATE_KEYS = '', EFFECTS = '', REDIS_PATH, DATABASE_URL } = process.env

async function connectFleet() {
  if (REDIS_PATH === undefined) {
    const pool = new Pool({ connectionString: DATABASE_URL, max: 6, allowExitOnIdle: true })
    pool.on('error', () => {})
    return { store: postgresStore(pool), bus: postgresBus(pool) }
  }
  const client = await connectRedis(REDIS_PATH)
  return { store: redisStore(client), bus: redisBus(client) }
}

const name = z.object({ name: z.string() })

const pair = tool('pair', {
  description: 'Asks twice, and appends a line to a file after each answer',
  input: z.object({ id: z.string() }),
  run: async ({ id }, ctx) => {
    const first = await ctx.elicit('first', { message: `${id}.1`, schema: name })
    await ctx.step('first', () => appendFileSync(EFFECTS, `${id}.1 ${first.name}\n`))
    const second = await ctx.elicit('second', { message: `${id}.2`, schema: name })
    await ctx.step('second', () => appendFileSync(EFFECTS, `${id}.2 ${second.name}\n`))
    return `${first.name} and ${second.name}`
  },
})

const work = tool('work', {
  description: 'Works for some seconds without asking',
  input: z.object({ id: z.string() }),
  run: async ({ id }, ctx) => {
    for (let index = 0; index < 8; index += 1) {
      ctx.progress(index)
      await setTimeout(500)
    }
    appendFileSync(EFFECTS, `${id}.work\n`)
    return 'worked'
  },
})

async function start(): Promise<void> {
  const state = sealedState({ keys: STATE_KEYS.split(',') })
  const { store, bus } = await connectFleet()
  const server = createServer({
    name: 'older-fleet',
    version: '1.0.0',
    state,
    tools: [pair, work],
    subscriptions: { bus },
    extensions: [legacy({ store })],
  })
  const { port } = await serveHttp(server, { stopOnSignals: true })
  process.stdout.write(`${port}\n`)
}

void start()
