import { expect, test } from 'vitest'
import { importPeerDependency, isMissingModuleError } from './import-peer-dependency.ts'

/** The error of Node for a missing package. */
function missing(name: string): Promise<never> {
  const error = new Error(`Cannot find package '${name}' imported from /app/server.js`)
  return Promise.reject(Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' }))
}

test('the error for a missing package contains the command to install it', async () => {
  await expect(importPeerDependency('pg@8', () => missing('pg'), 'This engine')).rejects.toThrow(
    'This engine needs the package pg, which is not installed: npm install pg@8',
  )
  await expect(
    importPeerDependency('@electric-sql/pglite@0.5', () => missing('@electric-sql/pglite'), 'This engine'),
  ).rejects.toThrow('npm install @electric-sql/pglite@0.5')
})

test('the error for a missing package differs from errors that end by themselves', async () => {
  const thrown = await importPeerDependency('pg@8', () => missing('pg'), 'This engine').catch((error: unknown) => error)
  expect(isMissingModuleError(thrown)).toBe(true)
  expect(isMissingModuleError(new Error('unreachable'))).toBe(false)
})

test.each([
  ['lacks one of its dependencies', () => missing('pg-types')],
  ['throws', () => Promise.reject(new SyntaxError('Unexpected token'))],
  ['throws a value that is not an error', () => Promise.reject('no')],
])('a package that %s is not reported as missing', async (_, load) => {
  const thrown = await load().catch((error: unknown) => error)
  await expect(importPeerDependency('pg@8', load, 'This engine')).rejects.toEqual(thrown)
})

test('an installed package is returned', async () => {
  expect(await importPeerDependency('pg@8', async () => ({ Pool: 1 }), 'This engine')).toEqual({ Pool: 1 })
})
