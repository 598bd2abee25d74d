import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fillTemplate } from './open-proxy.ts'

test('every name between braces is filled in', () => {
  expect(fillTemplate('listen {{port}}; {{servers}} {not this}', { port: '80', servers: '$& a' })).toBe(
    'listen 80; $& a {not this}',
  )
})

test('a name without a value is refused', () => {
  expect(() => fillTemplate('{{port}}', {})).toThrow('the configuration names {{port}}, for which there is no value')
  expect(() => fillTemplate('{{constructor}}', {})).toThrow('{{constructor}}')
})

test.each(['nginx.conf', 'haproxy.cfg'])(
  '%s sends a call to another instance only where nothing was sent yet',
  (file) => {
    const text = readFileSync(new URL(`../../balancers/${file}`, import.meta.url), 'utf8')
    expect(text).not.toMatch(/non_idempotent|retry-on.*(empty-response|response-timeout|all-retryable)/)
  },
)
