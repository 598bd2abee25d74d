import { expect, test } from 'vitest'
import { Run } from './run.ts'
import type { ServedRequest } from './served-request.ts'
import { authorFramesOf, startUse } from './context-uses.ts'

const newServer = () => ({ settings: { authorFrames: new Map() } }) as unknown as ServedRequest

test('a call is found at the place where it was made first, and a thousand of them are remembered', () => {
  const server = newServer()
  const run = new Run(server, 'charge')
  const start = (key: string) => {
    void startUse(run, 'ctx.step', key, Promise.resolve(1))
    const use = run.uses.started.at(-1)
    if (use === undefined) throw new Error('A run that is not over records each use')
    return use
  }
  const firstUse = start('first')
  const frames = authorFramesOf(run, firstUse)
  expect(frames).toMatch(/^\s+at /)
  const uses = Array.from({ length: 1500 }, (_, index) => start(`key ${index}`))
  expect(authorFramesOf(run, start('first'))).toBe(frames)
  expect(authorFramesOf(new Run(server, 'other'), firstUse)).toBeUndefined()
  expect(authorFramesOf(new Run(newServer(), 'charge'), firstUse)).toBeUndefined()
  const rememberedCount = uses.filter((use) => authorFramesOf(run, use) !== undefined).length
  expect(rememberedCount).toBe(999)
  expect(authorFramesOf(run, start('one more'))).toBeUndefined()
})
