import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fillTemplate } from './open-proxy.ts'

test('every placeholder is replaced by its value', () => {
  expect(fillTemplate('listen {{port}}; {{servers}} {not this}', { port: '80', servers: '$& a' })).toBe(
    'listen 80; $& a {not this}',
  )
})

test('a placeholder without a value is rejected', () => {
  expect(() => fillTemplate('{{port}}', {})).toThrow('the configuration template contains {{port}}, which has no value')
  expect(() => fillTemplate('{{constructor}}', {})).toThrow('{{constructor}}')
})

test.each(['nginx.conf', 'haproxy.cfg'])(
  '%s sends a call to another instance only if no connection was established',
  (file) => {
    const text = readFileSync(new URL(`../../balancers/${file}`, import.meta.url), 'utf8')
    expect(text).not.toMatch(/non_idempotent|retry-on.*(empty-response|response-timeout|all-retryable)/)
  },
)
