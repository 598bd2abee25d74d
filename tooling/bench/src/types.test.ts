import { expect, test } from 'vitest'
import { readHints } from './types.ts'

const expectedHints = {
  'byInterface.tools': /^\(property\) .*: ToolFunctions<Api>$/,
  'byInterface.prompts': /^\(property\) .*: PromptFunctions<Api>$/,
  'byInterface.tools.tool_7': /^\(property\) tool_7: \(args: \{\s*name7: string;/,
  'byServer.tools.tool_7': /^\(property\) tool_7: \(args: \{\s*name7: string;/,
}

test('the editor hints for the tools of a server with 50 tools are shorter than 300 characters', {
  timeout: 120_000,
}, () => {
  const hints = readHints(50, Object.keys(expectedHints))
  expect(hints).toEqual(Object.values(expectedHints).map((shown) => expect.stringMatching(shown)))
  expect(Math.max(...hints.map(({ length }) => length))).toBeLessThan(300)
})
