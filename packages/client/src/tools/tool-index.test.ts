import type { Exchange } from '@x/exchange'
import { describe, expect, test } from 'vitest'
import { createClient } from '../index.ts'

const safe = [
  { src: 'https://example.com/a.png' },
  { src: 'HTTPS://example.com/b.png' },
  { src: 'data:image/png;base64,AA==' },
]
const unsafe = [
  'http://example.com/a.png',
  'javascript:alert(1)',
  ' javascript:alert(1)',
  'java\nscript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'file:///etc/passwd',
  'ftp://example.com/a.png',
  'ws://example.com/a',
  'data:text/html,<script>alert(1)</script>',
  'app://icon',
  '',
]

describe('icons', () => {
  const tool = { name: 't', inputSchema: { type: 'object' } } as const
  const clientOf = (icons: readonly { readonly src: string }[] | undefined) => {
    const listed = icons === undefined ? tool : { ...tool, icons }
    const result = { resultType: 'complete', tools: [listed], ttlMs: 0, cacheScope: 'private' }
    const server: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, result })
    return createClient(server, { name: 'host', version: '1' })
  }

  test('with a source that may be fetched are given as they came', async () => {
    expect((await clientOf(safe).listTools())[0]?.icons).toEqual(safe)
  })

  test.each(unsafe)('from %j are left out, and the others are kept [BAS-067]', async (src) => {
    expect((await clientOf([{ src }, ...safe]).listTools())[0]?.icons).toEqual(safe)
  })

  test('that a tool does not have are not made up', async () => {
    expect((await clientOf(undefined).listTools())[0]).toEqual(tool)
  })
})
