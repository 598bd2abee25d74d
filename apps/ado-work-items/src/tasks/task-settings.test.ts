import { expect, test } from 'vitest'
import { databaseFrom, takeoverFrom, taskOptionsFrom } from './task-settings.ts'

test.each([
  [{}, undefined],
  [{ TASKS_DATABASE: '' }, undefined],
  [{ TASKS_DATABASE: 'postgres://me@host/tasks' }, 'postgres://me@host/tasks'],
  [{ TASKS_DATABASE: 'postgresql://host:5433/tasks?sslmode=require' }, 'postgresql://host:5433/tasks?sslmode=require'],
])('the environment %j names the database %j', (environment, url) => {
  expect(databaseFrom(environment)).toBe(url)
})

test.each(['mysql://me:secret@host/tasks', 'secret', 'postgres://me:secret@host:port/tasks'])(
  'the database %j is refused without being shown',
  (url) => {
    const read = () => databaseFrom({ TASKS_DATABASE: url })
    expect(read).toThrow('TASKS_DATABASE cannot be used: it should be a URL such as postgres://')
    expect(read).not.toThrow(/secret/)
  },
)

test.each([
  [{}, undefined],
  [{ TASKS_TAKEOVER_MS: '' }, undefined],
  [{ TASKS_TAKEOVER_MS: '2000' }, 2000],
])('by the environment %j a task is taken over after %j ms', (environment, ms) => {
  expect(takeoverFrom(environment)).toBe(ms)
})

test.each(['soon', '0', '499', '1.5e3.', '3600001'])('it cannot be taken over after %j', (text) => {
  expect(() => takeoverFrom({ TASKS_TAKEOVER_MS: text })).toThrow(
    'it should be a whole number of milliseconds from 500',
  )
})

test('an instance without a database does not begin', () => {
  expect(() => taskOptionsFrom({}, () => {})).toThrow('an instance needs TASKS_DATABASE')
})
