import { expect, test, vi } from 'vitest'
import { callListener, createLog, memoryBus, requireSync } from './index.ts'

const failure = new Error('a listener of an author failed')

/** The ways in which a function of an author fails. */
const failingFunctions: readonly [string, () => unknown][] = [
  [
    'throws',
    () => {
      throw failure
    },
  ],
  ['rejects', () => Promise.reject(failure)],
  [
    'returns a thenable that throws',
    () => ({
      // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
      then() {
        throw failure
      },
    }),
  ],
]

test.each(failingFunctions)('a listener that %s is reported once [ROB-003]', async (_, listener) => {
  const report = vi.fn()
  callListener(listener, undefined, report)
  await Promise.resolve()
  expect(report.mock.calls).toEqual([[failure]])
})

test.each(failingFunctions)('a log that %s fails nothing [ROB-003]', (_, log) => {
  expect(() => createLog(log, '@x/demo')({ level: 'info', message: 'text' })).not.toThrow()
})

test.each(failingFunctions)(
  'a listener of a bus that %s is logged, and the others are called [ROB-003]',
  async (_, fail) => {
    const log = vi.fn()
    const others = vi.fn()
    const bus = memoryBus({ log })
    await bus.listen({ onChange: () => fail(), onGap: () => {} })
    await bus.listen({ onChange: others, onGap: () => {} })
    await bus.publish({ topic: 'tools' })
    expect(others).toHaveBeenCalledOnce()
    await expect.poll(() => log.mock.calls).toEqual([[expect.objectContaining({ err: failure })]])
  },
)

test('a promise is refused where a function must answer at once, and its rejection is caught [ROB-003]', () => {
  expect(() => requireSync('visibleTo', Promise.reject(failure))).toThrow('visibleTo returned a promise')
  expect(requireSync('visibleTo', false)).toBe(false)
})
