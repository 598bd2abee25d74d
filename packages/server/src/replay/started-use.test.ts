import { expect, test } from 'vitest'
import { authorFramesOf, startUse } from './started-use.ts'

const server = {}
const start = (key: string) =>
  startUse(Promise.resolve(1), { server, handlerName: 'charge', functionName: 'ctx.step', key }).use

test('a call is found at the place where it was made first, and a thousand of them are remembered', () => {
  const firstUse = start('first')
  const frames = authorFramesOf(server, 'charge', firstUse)
  expect(frames).toMatch(/^\s+at /)
  const uses = Array.from({ length: 1500 }, (_, index) => start(`key ${index}`))
  expect(authorFramesOf(server, 'charge', start('first'))).toBe(frames)
  expect(authorFramesOf(server, 'other', firstUse)).toBeUndefined()
  expect(authorFramesOf({}, 'charge', firstUse)).toBeUndefined()
  const rememberedCount = uses.filter((use) => authorFramesOf(server, 'charge', use) !== undefined).length
  expect(rememberedCount).toBe(999)
  expect(authorFramesOf(server, 'charge', start('one more'))).toBeUndefined()
})
