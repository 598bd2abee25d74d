import { expect, test } from 'vitest'
import { importPeerDependency } from './import-peer-dependency.ts'

/** What Node says of a package that is not there. */
function missing(name: string): Promise<never> {
  const error = new Error(`Cannot find package '${name}' imported from /app/server.js`)
  return Promise.reject(Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' }))
}

test('a package that is missing is named, with what to install', async () => {
  await expect(importPeerDependency('pg@8', () => missing('pg'))).rejects.toThrow(
    'This engine needs the package pg, which is not installed: npm install pg@8',
  )
  await expect(importPeerDependency('@electric-sql/pglite@0.5', () => missing('@electric-sql/pglite'))).rejects.toThrow(
    'npm install @electric-sql/pglite@0.5',
  )
})

test.each([
  ['lacks a package of its own', () => missing('pg-types')],
  ['throws', () => Promise.reject(new SyntaxError('Unexpected token'))],
  ['throws what is no error', () => Promise.reject('no')],
])('a package that %s is not said to be missing', async (_, load) => {
  const thrown = await load().catch((error: unknown) => error)
  await expect(importPeerDependency('pg@8', load)).rejects.toEqual(thrown)
})

test('a package that is there is given', async () => {
  expect(await importPeerDependency('pg@8', async () => ({ Pool: 1 }))).toEqual({ Pool: 1 })
})
