import { expect, test } from 'vitest'
import { buildPatch } from './patch.ts'

test('the revision is tested before anything is changed', () => {
  const links = [{ type: 'System.LinkTypes.Duplicate-Reverse', url: 'https://example/4301' }]
  expect(buildPatch({ rev: 7, fields: { 'System.State': 'Resolved', 'Custom.Count': 2 }, links })).toEqual([
    { op: 'test', path: '/rev', value: 7 },
    { op: 'add', path: '/fields/System.State', value: 'Resolved' },
    { op: 'add', path: '/fields/Custom.Count', value: 2 },
    { op: 'add', path: '/relations/-', value: { rel: links[0]?.type, url: links[0]?.url } },
  ])
})

test('a field name cannot leave its place in the path', () => {
  expect(buildPatch({ fields: { 'a/../~b': 1 }, links: [] })).toEqual([
    { op: 'add', path: '/fields/a~1..~1~0b', value: 1 },
  ])
})
