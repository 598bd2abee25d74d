import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { readOpenApi } from '../src/node.ts'

test('the program of the README reads an order, asks, and deletes it', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/quick-start.ts')
  expect(printed.mock.calls).toEqual([
    [{ request: 'GET /orders/7' }],
    ['Delete an order\nDELETE /orders/7'],
    [{ request: 'DELETE /orders/7' }],
  ])
})

test('the program of the guide sends the token of each user, and asks one without a token to log in', async () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import('../examples/user-rights.ts')
  expect(printed.mock.calls).toEqual([
    ['Delete an order\nDELETE /orders/7'],
    [{ request: 'DELETE /orders/7', token: 'Bearer token-of-ada' }],
    [[{ type: 'text', text: 'Log in to localhost:8080 first: https://login.example.com/orders' }]],
  ])
})

test.each([
  ['YAML', 'orders.yaml', { openapi: '3.1.0' }],
  ['JSON', '../package.json', { name: '@x/openapi' }],
])('a file of %s is read', async (_, path, content) => {
  expect(await readOpenApi(fileURLToPath(new URL(path, import.meta.url)))).toMatchObject(content)
})

test('a file with anything else is an error that names it', async () => {
  const path = fileURLToPath(new URL('../vitest.config.ts', import.meta.url))
  await expect(readOpenApi(path)).rejects.toMatchObject({ name: 'OpenApiError', code: 'document' })
})
