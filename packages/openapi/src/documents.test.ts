import { expect, test } from 'vitest'
import { readExample, readVendored } from './testing/documents.ts'
import { tryDocument } from './testing/try-document.ts'

test.each([
  ['Slack', () => readVendored('slack'), 174, 174],
  ['Star Trek', () => readExample('3.0/json/star-trek'), 120, 120],
  ['ReadMe', () => readExample('3.1/json/readme'), 54, 54],
  ['Petstore', () => readExample('3.1/json/petstore'), 19, 19],
  ['Train Travel', () => readExample('3.1/json/train-travel'), 7, 7],
])('%s: all calls that the schema lets pass arrive as meant', async (_, read, tools, arrived) => {
  const trial = await tryDocument(read())
  expect(trial).toMatchObject({ tools, wrong: [] })
  expect(trial.arrived).toBeGreaterThanOrEqual(arrived)
  expect(trial.longestName).toBeLessThanOrEqual(50)
  expect(trial.largestEntry).toBeLessThanOrEqual(20_000)
})
