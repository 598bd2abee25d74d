import * as authClient from '@x/auth/client'
import { oauth, pageRedirect } from '@x/auth/client'
import { protect } from '@x/auth/server'
import { createClient } from '@x/client'
import { legacy } from '@x/legacy'
import { createServer, randomKey, sealedState } from '@x/server'
import { sessions } from '@x/sessions/server'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { author } from '../guesses/accepted.ts'

describe('a guess that the types accept is rejected at the start:', () => {
  const server = createServer({ name: 'guesses', version: '1.0.0', state: false })
  const keys = [randomKey()]
  const start: Readonly<Record<string, (options: object) => unknown>> = {
    createServer: (options) => createServer({ name: 'guesses', version: '1.0.0', ...options }),
    'createServer, limits,': (limits) => createServer({ name: 'guesses', version: '1.0.0', limits }),
    serveHttp: (options) => serveHttp(server, options),
    createClient: (options) => createClient(server, { ...author, ...options }),
    tasks,
    legacy,
    sessions: (options) => sessions({ ...options }),
    protect: (options) =>
      protect({ resource: 'https://mcp.example.com/mcp', issuers: ['https://login.example.com'], ...options }),
    oauth: (options) =>
      oauth({ client: { name: 'Guesses' }, redirect: pageRedirect({ uri: 'https://app.example/login' }), ...options }),
    sealedState: (options) => sealedState({ keys, ...options }),
  }
  test.each<[string, object, string]>([
    ['createServer', { maxCallsPerCaller: 10 }, 'limits.calls'],
    ['createServer', { middleware: [] }, 'use'],
    ['createServer, limits,', { call: 10 }, 'calls'],
    ['serveHttp', { principal: () => undefined }, 'auth'],
    ['createClient', { timeoutMS: 1000 }, 'timeoutMs'],
    ['tasks', { concurency: 2 }, 'concurrency'],
    ['legacy', { sessionTtl: 1000 }, 'sessionTtlMs'],
    ['sessions', { ttl: 1000 }, 'ttlMs'],
    ['protect', { issuer: 'https://login.example.com' }, 'issuers'],
    ['oauth', { issuer: {} }, 'issuers'],
    ['sealedState', { ttl: 1000 }, 'ttlMs'],
  ])('an option of %s that does not exist, %j', async (where, options, suggestion) => {
    const [name] = Object.keys(options)
    const started = async (): Promise<unknown> => start[where]?.(options)
    await expect(started()).rejects.toThrow(`${where} has no option \`${name}\`: did you mean \`${suggestion}\`?`)
  })
})

describe('a function that is called without its arguments says what it takes, and not what the engine met:', () => {
  const entries: Readonly<Record<string, () => Promise<object>>> = {
    auth: () => import('@x/auth/server'),
    'auth/client': async () => authClient,
    'auth/enterprise': () => import('@x/auth/enterprise'),
    'auth/exchange': () => import('@x/auth/exchange'),
    'auth/login': () => import('@x/auth/login'),
    'auth/machine': () => import('@x/auth/machine'),
    client: () => import('@x/client'),
    'client/forms': () => import('@x/client/forms'),
    'client/models': () => import('@x/client/models'),
    gateway: () => import('@x/gateway'),
    legacy: () => import('@x/legacy'),
    'legacy/client': () => import('@x/legacy/client'),
    server: () => import('@x/server'),
    sessions: () => import('@x/sessions/server'),
    skills: () => import('@x/skills/server'),
    state: () => import('@x/state-codec'),
    'state/postgres': () => import('@x/state-codec/postgres'),
    tasks: () => import('@x/tasks/server'),
    'tasks/admin': () => import('@x/tasks/admin'),
    'tasks/client': () => import('@x/tasks/client'),
    testing: () => import('@x/testing'),
    'testing/node': () => import('@x/testing/node'),
    http: () => import('@x/transport-http'),
    'http/client': () => import('@x/transport-http/client'),
    stdio: () => import('@x/transport-stdio'),
  }
  // These take an error, a clock, the name of a field, or the standard streams of this process.
  const without = /^(serveStdio|bridge|labelFromName|isPermanent|retryAfterMsOf|errorResult|testRuntime|memoryBus)$/
  const engineError = /Cannot (read|destructure|convert|use)|is not (a function|iterable|an object)|^Invalid URL$/

  test.each(Object.keys(entries))('%s', async (entry) => {
    const functions = Object.entries((await entries[entry]?.()) ?? {}).filter(
      ([name, value]) => typeof value === 'function' && /^[a-z]/.test(name) && !without.test(name),
    )
    expect(functions).not.toEqual([])
    const told: string[] = []
    for (const [name, value] of functions) {
      for (const given of [[], [null], [{}]]) {
        const message = await messageOf(() => value(...given))
        if (engineError.test(message)) told.push(`${name}(${JSON.stringify(given).slice(1, -1)}): ${message}`)
      }
    }
    expect(told).toEqual([])
  })
})

/** Returns the message of the error that a call ends with at once, and an empty text when it ends otherwise. */
async function messageOf(call: () => unknown): Promise<string> {
  try {
    const started = call()
    await Promise.race([started, setImmediate()])
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
