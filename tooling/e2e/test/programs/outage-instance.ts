import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { protect } from '@x/auth/server'
import { createServer, sealedState, type StateCodec, tool } from '@x/server'
import { sessions } from '@x/sessions/server'
import { storedState } from '@x/state-codec'
import { serveHttp } from '@x/transport-http/node'
import * as z from 'zod'
import { openParts } from './outage-parts.ts'

const { STATE_KEYS = '', EFFECTS = '', KEEPS_STATES, ISSUER, STATE_TTL_MS } = process.env

/** Creates the effect of a key once. Later calls with the key return the same effect. */
function createEffect(key: string): string {
  const file = join(EFFECTS, Buffer.from(key).toString('base64url'))
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, randomUUID())
  try {
    linkSync(draft, file)
  } catch {
    // The effect exists already.
  }
  rmSync(draft)
  return readFileSync(file, 'utf8')
}

const color = z.object({ color: z.string() })

const pair = tool('pair', {
  description: 'Asks twice, with an effect before, between and after the questions',
  input: z.object({ name: z.string() }),
  keyedEffects: true,
  run: async ({ name }, ctx) => {
    const effect = (step: string) =>
      ctx.step(step, async () => {
        await setTimeout(20)
        return createEffect(`${name}/${step}`)
      })
    const one = await effect('one')
    const first = await ctx.elicit('first', { message: `${name}.1`, schema: color })
    const two = await effect('two')
    const second = await ctx.elicit('second', { message: `${name}.2`, schema: color })
    return [one, first.color, two, second.color, await effect('three')].join(' ')
  },
})

async function start(): Promise<void> {
  const sealed = sealedState({
    keys: STATE_KEYS.split(','),
    ...(STATE_TTL_MS !== undefined && { ttlMs: Number(STATE_TTL_MS), maxAgeMs: Number(STATE_TTL_MS) }),
  })
  const { store, bus, close } = await openParts()
  const state: StateCodec = KEEPS_STATES === undefined ? sealed : storedState({ store })
  const countSession = sessions({
    state: { schema: z.object({ count: z.number() }), initial: { count: 0 } },
    ...(KEEPS_STATES !== undefined && { store }),
  })
  const count = tool('count', {
    description: 'Adds one to the count of the session',
    keyedEffects: true,
    run: (_, ctx) => {
      const session = countSession.of(ctx)
      session.setState({ count: session.state.count + 1 })
      return String(session.state.count)
    },
  })
  const server = createServer({
    name: 'outages',
    version: '1.0.0',
    state,
    idempotency: { store },
    ...(bus !== undefined && { subscriptions: { bus } }),
    tools: [pair, count],
    extensions: [countSession],
    log: () => {},
    close: async () => void (await close()),
  })
  const auth =
    ISSUER === undefined
      ? (request: { header(name: string): string | undefined }) => ({ subject: request.header('x-caller') ?? '' })
      : protect({ resource: 'http://127.0.0.1/mcp', issuers: [ISSUER] })
  const { port } = await serveHttp(server, { auth, stopOnSignals: true })
  process.stdout.write(`${port}\n`)
}

void start()
