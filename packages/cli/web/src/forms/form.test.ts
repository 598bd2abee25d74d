import { expect, test } from 'vitest'
import type { Field } from './field.ts'
import { openForm } from './form.ts'

const name: Field = { name: 'name', label: 'Name', required: true, kind: { type: 'text' }, initial: '' }
const size: Field = {
  name: 'size',
  label: 'Size',
  required: false,
  kind: { type: 'number', whole: true },
  initial: '3',
}

test('a form begins with the defaults, and gives values and what was left empty', () => {
  const form = openForm([name, size])
  form.set('name', 'Ada')
  expect([...(form.read() ?? [])]).toEqual([
    ['name', 'Ada'],
    ['size', 3],
  ])
  form.set('size', '')
  expect([...(form.read() ?? [])]).toEqual([
    ['name', 'Ada'],
    ['size', undefined],
  ])
})

test('shows no issue before the form is read, and from then on checks each change at once', () => {
  const form = openForm([name, size])
  form.set('size', 'many')
  expect(form.issues.value.size).toBe(0)
  expect(form.read()).toBeUndefined()
  expect([...form.issues.value.keys()]).toEqual(['name', 'size'])
  form.set('size', '1.5')
  expect(form.issues.value.get('size')).toBe('Write a whole number.')
  form.set('size', '2')
  expect([...form.issues.value.keys()]).toEqual(['name'])
})

test('a field that the form does not have is not set', () => {
  const form = openForm([size])
  form.set('__proto__', 'x')
  expect([...form.drafts.value.keys()]).toEqual(['size'])
})
