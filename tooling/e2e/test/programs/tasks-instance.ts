import { setTimeout } from 'node:timers/promises'
import * as restate from '@restatedev/restate-sdk'
import { restateRunner, taskObject } from '@tooling/examples/task-runners'
import { createServer, sealedState, tool } from '@x/server'
import { postgresStore } from '@x/state-codec/postgres'
import { postgresEngine } from '@x/tasks/postgres'
import { redisEngine } from '@x/tasks/redis'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import { Pool } from 'pg'
import * as z from 'zod'

const { DATABASE_URL = '', LEASE_MS = '', STATE_KEYS = '' } = process.env
/** The Restate server that runs the tasks, and the port of its worker. */
const { RESTATE_INGRESS, WORKER_PORT } = process.env
/** The URL of the Redis that stores the tasks. Without it, the database stores them. */
const { REDIS_URL } = process.env

const effects = new Pool({
  connectionString: DATABASE_URL,
  max: 4,
  allowExitOnIdle: true,
  connectionTimeoutMillis: 2000,
  query_timeout: 2000,
})
effects.on('error', () => {})

/**
 * Creates the effect of a key once, like a payment with an idempotency key. Later calls with the key return the same
 * effect.
 */
async function createEffect(key: string, made: string): Promise<string> {
  for (;;) {
    try {
      const { rows } = await effects.query<{ nonce: string }>(
        `INSERT INTO effects AS kept (key, made) VALUES ($1, $2)
        ON CONFLICT (key) DO UPDATE SET runs = kept.runs + 1 RETURNING nonce::text AS nonce`,
        [key, made],
      )
      return `${rows[0]?.nonce}`
    } catch {
      // The database is restarting, so the step retries.
      await setTimeout(50)
    }
  }
}

const color = z.object({ color: z.string() })

const paint = tool('paint', {
  description: 'Works, asks and continues to work',
  input: z.object({ name: z.string() }),
  task: 'required',
  run: async ({ name }, ctx) => {
    const effect = (step: string) =>
      ctx.step(step, async ({ idempotencyKey }) => {
        await setTimeout(30)
        return createEffect(idempotencyKey, `${name}/${step}`)
      })
    const before = [await effect('one'), await effect('two')]
    ctx.progress(2, 3, `${name} is primed`)
    const answer = await ctx.elicit('color', { message: `Which color has ${name}?`, schema: color })
    return [name, ...before, answer.color, await effect('three')].join(' ')
  },
})

const pair = tool('pair', {
  description: 'Asks twice, with an effect before, between and after the questions',
  input: z.object({ name: z.string() }),
  keyedEffects: true,
  run: async ({ name }, ctx) => {
    const effect = (step: string) =>
      ctx.step(step, async ({ idempotencyKey }) => {
        await setTimeout(10)
        return createEffect(idempotencyKey, `${name}/${step}`)
      })
    const one = await effect('one')
    const first = await ctx.elicit('first', { message: `Which color has the first of ${name}?`, schema: color })
    const two = await effect('two')
    const second = await ctx.elicit('second', { message: `Which color has the second of ${name}?`, schema: color })
    return [name, one, first.color, two, second.color, await effect('three')].join(' ')
  },
})

const engineOptions = { leaseMs: Number(LEASE_MS), timeoutMs: 3000 }
const store =
  REDIS_URL === undefined ? postgresEngine(DATABASE_URL, engineOptions) : redisEngine(REDIS_URL, engineOptions)

// What a server does every half minute, or less often, is done ten times as often: it looks for tasks whose dispatch was lost.
const runtime = {
  setTimeout: (run: () => void, ms: number) => globalThis.setTimeout(run, ms < 30_000 ? ms : ms / 10),
}

const server = createServer({
  name: 'instance',
  version: '1.0.0',
  runtime,
  state: sealedState({ keys: STATE_KEYS.split(',') }),
  idempotency: { store: postgresStore(effects) },
  // A single principal creates all tasks.
  limits: { tasks: 10_000 },
  tools: [paint, pair],
  extensions: [
    tasks({
      store,
      concurrency: 8,
      maxFailures: 1000,
      runner: RESTATE_INGRESS === undefined ? undefined : restateRunner(RESTATE_INGRESS),
    }),
  ],
})

/** Callers name their subject in a header. A request without it has no principal. */
function auth(request: { header(name: string): string | undefined }) {
  const subject = request.header('x-caller')
  return subject === undefined ? undefined : { subject }
}

// The program owns the pool of the effects. An idle pool does not keep the process alive.
const listening =
  WORKER_PORT === undefined
    ? serveHttp(server, { stopOnSignals: true, auth }).then(({ port }) => port)
    : restate.serve({ services: [taskObject(server.tasks)], port: Number(WORKER_PORT) })
void listening.then((port) => process.stdout.write(`${port}\n`))
