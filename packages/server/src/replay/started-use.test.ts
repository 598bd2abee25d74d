import { expect, test } from 'vitest'
import { authorFramesOf, startUse } from './started-use.ts'

const start = (key: string) =>
  startUse(Promise.resolve(1), { handlerName: 'charge', functionName: 'ctx.step', key }).use

test('a call is found at the place where it was made first, and a thousand of them are remembered', () => {
  const firstUse = start('first')
  const frames = authorFramesOf('charge', firstUse)
  expect(frames).toMatch(/^\s+at /)
  const uses = Array.from({ length: 1500 }, (_, index) => start(`key ${index}`))
  expect(authorFramesOf('charge', start('first'))).toBe(frames)
  expect(authorFramesOf('other', firstUse)).toBeUndefined()
  const rememberedCount = uses.filter((use) => authorFramesOf('charge', use) !== undefined).length
  expect(rememberedCount).toBe(999)
  expect(authorFramesOf('charge', start('one more'))).toBeUndefined()
})
