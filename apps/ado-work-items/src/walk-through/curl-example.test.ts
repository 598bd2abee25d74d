import { expect, test } from 'vitest'
import { curlCommand, exampleRequest } from './curl-example.ts'

test('the command quotes everything for a shell', () => {
  const request = { url: 'http://127.0.0.1:1/mcp', headers: { 'X-A': "it's" }, body: '{"a":"$b"}' }
  expect(curlCommand(request)).toBe(`curl -sS http://127.0.0.1:1/mcp \\\n  -H 'X-A: it'\\''s' \\\n  -d '{"a":"$b"}'`)
})

test('the headers of the example repeat its body', () => {
  const { headers, body } = exampleRequest('http://127.0.0.1:1/mcp')
  const { method, params } = JSON.parse(body)
  expect([headers['Mcp-Method'], headers['Mcp-Name']]).toEqual([method, params.name])
})
