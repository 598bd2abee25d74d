import { memoryBus, platformRuntime } from '@x/core'
import { memoryStore, randomKey, sealedState } from '@x/state-codec'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type LegacyOptions, resolveLegacySettings } from './options.ts'

// `tooling/runtimes` runs the extension on workerd itself.
beforeEach(() => void vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' }))
afterEach(() => void vi.unstubAllGlobals())

const host = {
  bus: memoryBus(),
  state: sealedState({ keys: [randomKey()] }),
  runtime: platformRuntime,
  log: () => {},
}

test.each<[keyof LegacyOptions, LegacyOptions]>([
  ['closeAfterMs', { closeAfterMs: 1000 }],
  ['questionState', { questionState: true }],
  ['store', { store: memoryStore() }],
])('on workerd %s is refused by name', (name, options) => {
  expect(() => resolveLegacySettings(options, host)).toThrow(
    `legacy({ ${name} }) does not work on workerd, which ends a call with its connection: leave ${name} out`,
  )
})

test('on workerd no stream is kept for a reader', () => {
  expect(resolveLegacySettings({}, host).keepsStreams).toBe(false)
})
