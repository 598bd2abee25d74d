import { type Log, quoteText } from '@x/core'
import type { TaskEngine } from './engine.ts'
import { createLazyEngine, defaultLeaseMs } from './lazy-engine.ts'
import { memoryEngine } from './memory-engine.ts'

/**
 * Finds the engine for a store address by its scheme. The code is loaded when it is first used. Throws `RangeError` for
 * an unknown scheme, with the scheme alone in the message, because URLs contain passwords.
 */
export function engineFactoryFor(store: string): (log: Log) => TaskEngine {
  if (store === 'memory:') return () => memoryEngine()
  if (/^postgres(?:ql)?:\/\//.test(store))
    return openLazily(async (options) =>
      (await import('./postgres/postgres-engine.ts')).postgresEngine(store, {
        ...options,
        schema: parameterOf(store, 'schema'),
      }),
    )
  if (/^rediss?:\/\//.test(store))
    return openLazily(async (options) =>
      (await import('./redis/redis-engine.ts')).redisEngine(store, {
        ...options,
        prefix: parameterOf(store, 'prefix'),
      }),
    )
  const folder = /^pglite:(.+)$/.exec(store)?.[1]
  if (folder !== undefined)
    return openLazily(async (options) => (await import('./pglite/pglite-engine.ts')).pgliteEngine(folder, options))
  throw new RangeError(`store ${describeProblem(store)}`)
}

/** Reads the option of an engine that an address may have. The clients of the stores ignore it. */
function parameterOf(store: string, name: 'schema' | 'prefix'): string | undefined {
  return URL.canParse(store) ? (new URL(store).searchParams.get(name) ?? undefined) : undefined
}

function describeProblem(store: string): string {
  const urls = 'a URL that begins with "postgres://" or "redis://"'
  // Without a colon it is no URL, and contains no password.
  if (/^[^:]+$/.test(store)) return `has no scheme; write ${quoteText(`pglite:${store}`)} for a folder, or ${urls}`
  const scheme = /^[a-z]{1,20}:/i.exec(store)?.[0] ?? 'none'
  return `has the scheme ${scheme}; write ${urls}, "pglite:" and a folder, or "memory:" for the tasks of one process`
}

function openLazily(
  open: (options: { readonly leaseMs: number; readonly log: Log }) => Promise<TaskEngine>,
): (log: Log) => TaskEngine {
  return (log) => createLazyEngine(defaultLeaseMs, () => open({ leaseMs: defaultLeaseMs, log }))
}
