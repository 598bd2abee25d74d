import { expect, test, vi } from 'vitest'

test('the program of the README prints the skills of its folder, and the text of one', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([
    ['triage-bug: Decides how urgent a bug report is. Use it when a user reports a fault.'],
    [expect.stringContaining('# Triage a bug')],
  ])
})
