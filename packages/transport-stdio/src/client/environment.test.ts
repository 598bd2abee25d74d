import { expect, test } from 'vitest'
import { createEnvironment } from './server-process.ts'

const env = { PATH: '/bin', HOME: '/home/ada', AWS_SECRET_ACCESS_KEY: 'hunter2', NODE_OPTIONS: '--inspect', lang: 'x' }

test('a process gets the few variables that it needs, and none that may be a secret', () => {
  expect(createEnvironment({}, { env, platform: 'linux' })).toEqual({ PATH: '/bin', HOME: '/home/ada' })
})

test('a given variable is added, replaced or removed', () => {
  const added = { TOKEN: 't', PATH: '/usr/bin', HOME: undefined, __proto__: 'x' }
  expect(createEnvironment(added, { env, platform: 'linux' })).toEqual({ PATH: '/usr/bin', TOKEN: 't' })
})

test('on Windows names are the same in every case, and only one of them is passed on', () => {
  const windows = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', Secret: 's' }
  expect(createEnvironment({ PATH: 'D:\\bin' }, { env: windows, platform: 'win32' })).toEqual({
    PATH: 'D:\\bin',
    SystemRoot: 'C:\\Windows',
  })
})
