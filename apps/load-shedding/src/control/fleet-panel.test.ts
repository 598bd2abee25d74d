import { expect, test } from 'vitest'
import { createFakeStage } from '../testing/fake-stage.ts'
import { fleetPanel } from './fleet-panel.ts'

test.each([
  [{ kind: 'overload', instance: 2, on: true }, 'overload 2 true'],
  [{ kind: 'kill', instance: 1 }, 'kill 1'],
  [{ kind: 'restart', instance: 2 }, 'restart 2'],
  [{ kind: 'restartAll' }, 'restartAll'],
  [{ kind: 'shedding', on: false }, 'shedding false'],
  [{ kind: 'burst' }, 'burst 4'],
  [{ kind: 'level', level: 'heavy' }, 'level heavy'],
])('the command %j is run', async (command, expected) => {
  const stage = createFakeStage()
  await fleetPanel(stage).run?.(command)
  expect(stage.commands).toEqual([expected])
})

test.each([
  ['an unknown command', { kind: 'explode' }, 'kind'],
  ['an unknown instance', { kind: 'kill', instance: 3 }, 'There is no instance 3'],
  ['an instance that is not a number', { kind: 'kill', instance: '1' }, 'instance'],
])('%s is rejected, and no command is run', async (_, command, message) => {
  const stage = createFakeStage()
  await expect(fleetPanel(stage).run?.(command)).rejects.toThrow(message)
  expect(stage.commands).toEqual([])
})
