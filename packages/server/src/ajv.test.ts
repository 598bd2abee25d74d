import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { ajvCompiler } from './ajv.ts'
import { createServer, tool } from './index.ts'
import { callTool, textOf } from './testing/ask.ts'

const input = {
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 2 },
    color: { enum: ['red', 'blue'] },
    inner: { type: 'object', properties: { 'a/b~c': { type: 'integer' } } },
  },
  required: ['name'],
  additionalProperties: false,
}
const server = createServer({
  name: 'demo',
  version: '1.0.0',
  compileSchema: ajvCompiler(new Ajv2020({ allErrors: true, strict: false })),
  tools: [tool('t', { description: 't', input, run: (args) => JSON.stringify(args) })],
})

test('Ajv can compile the schemas of a server', async () => {
  expect(textOf(await callTool(server, 't', { name: 'ab' }))).toBe('{"name":"ab"}')
})

test.each([
  [{}, "- (the whole): must have required property 'name'"],
  [{ name: 'a' }, '- name: must NOT have fewer than 2 characters'],
  [{ name: 'ab', color: 'green' }, '- color: must be equal to one of the allowed values: "red", "blue"'],
  [{ name: 'ab', inner: { 'a/b~c': 'x' } }, '- inner.a/b~c: must be integer'],
  [{ name: 'ab', more: 1 }, '- (the whole): must NOT have additional properties (more)'],
])('%j is refused with what Ajv says: %s', async (args, line) => {
  expect(textOf(await callTool(server, 't', args))).toContain(line)
})
