import { readSchema } from '@tooling/spec'
import { describe, expect, test } from 'vitest'
import { findMethodRow, findNotificationRow, methods, notificationMethods } from './methods.ts'

const { $defs } = readSchema()

/** The method names of all messages of a union of the published schema. */
function publishedMethods(union: string): unknown[] {
  const members = $defs[union]?.anyOf?.map(({ $ref }) => $defs[$ref?.replace('#/$defs/', '') ?? '']) ?? [$defs[union]]
  return members.map((member) => member?.properties?.['method']?.const).toSorted()
}

describe('the method table', () => {
  test('has a row for exactly the requests that a client sends', () => {
    expect(Object.keys(methods).toSorted()).toEqual(publishedMethods('ClientRequest'))
  })

  test('says which results carry cache hints as the schema does', () => {
    const cached = Object.keys($defs).filter(
      (name) => $defs[name]?.required?.includes('ttlMs') && name !== 'CacheableResult',
    )
    const rows = Object.values(methods).filter((row) => 'isCacheable' in row)
    expect(rows.length).toBe(cached.length)
  })

  test('says which methods may ask for input: those whose params carry answers', () => {
    const asking = Object.entries(methods).filter(([, row]) => 'canRequireInput' in row)
    expect(asking.map(([method]) => method).toSorted()).toEqual(['prompts/get', 'resources/read', 'tools/call'])
  })

  test.each([
    ['tools/call', 'name'],
    ['prompts/get', 'name'],
    ['resources/read', 'uri'],
    ['tools/list', undefined],
    ['completion/complete', undefined],
  ])('says that Mcp-Name of %s repeats %s', (method, field) => {
    expect(findMethodRow(method)?.targetParam).toBe(field)
  })

  test.each(['tools/Call', 'initialize', 'ping', 'toString', '__proto__', 'constructor', ''])(
    'has no row for %j',
    (method) => {
      expect([findMethodRow(method), findNotificationRow(method)]).toEqual([undefined, undefined])
    },
  )
})

describe('the notification table', () => {
  test.each([
    ['client', 'ClientNotification'],
    ['server', 'ServerNotification'],
  ])('has a row for exactly what a %s sends', (sender, union) => {
    const sent = Object.entries(notificationMethods).filter(([, row]) => row.sender === sender || row.sender === 'both')
    expect(sent.map(([method]) => method).toSorted()).toEqual(publishedMethods(union))
  })

  test('finds a row by name', () => {
    expect(findNotificationRow('notifications/progress')).toEqual({ sender: 'server' })
  })
})
