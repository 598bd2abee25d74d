import { oauth, pageRedirect } from '@x/auth/client'
import { protect } from '@x/auth/server'
import { createClient } from '@x/client'
import { legacy } from '@x/legacy'
import { createServer, randomKey, sealedState } from '@x/server'
import { sessions } from '@x/sessions/server'
import { tasks } from '@x/tasks/server'
import { serveHttp } from '@x/transport-http/node'
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
