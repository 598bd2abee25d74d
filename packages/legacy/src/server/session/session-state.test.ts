import { createLedger, type EpochMs, type LogRecord } from '@x/core'
import { expect, test } from 'vitest'
import { resolveLegacySettings } from './options.ts'
import type { Session } from './session.ts'
import { SessionStates, type LegacySessionState } from './session-state.ts'

const createSession = (key: string): Session => ({
  key,
  digest: `digest of ${key}`,
  revision: '2025-11-25',
  info: undefined,
  capabilities: {},
  expiresAt: Number.MAX_SAFE_INTEGER,
})

/** The states of an instance, and a function that breaks one stream of a session of a caller. */
function createBrokenStreams() {
  const warnings: LogRecord[] = []
  const settings = resolveLegacySettings(
    {},
    { bus: undefined, state: undefined, runtime: { now: () => 0 as EpochMs }, log: (record) => warnings.push(record) },
  )
  const states = new SessionStates(settings, createLedger())
  const abandoned: string[] = []
  const breakStream = (callerKey: string, sessionKey: string, id: string): LegacySessionState => {
    const state = states.getOrCreate(createSession(sessionKey), callerKey)
    const abandon = (): void => {
      abandoned.push(id)
      state.streams.delete(id)
    }
    state.streams.set(id, { isDetached: true, abandon })
    states.makeRoomForStream(state)
    return state
  }
  return { breakStream, abandoned, warnings }
}

test('of more than 1,000 broken streams the oldest of the caller with the most is ended, and none of another [LEG-091]', () => {
  const { breakStream, abandoned, warnings } = createBrokenStreams()
  breakStream('ip:honest', 'honest', 'own')
  for (let index = 0; index < 1002; index += 1)
    breakStream('ip:greedy', `session ${Math.floor(index / 2)}`, `stream ${index}`)
  expect(abandoned).toEqual(['stream 0', 'stream 1', 'stream 2'])
  // A warning is logged once in a minute.
  expect(warnings).toMatchObject([{ level: 'warn', code: 'limit' }])
})
