import type { ReadonlySignal } from '@preact/signals'
import type { Draft, Field } from '../forms/field.ts'

/** Values that the server suggests for fields of text. */
export interface Completions {
  readonly values: ReadonlySignal<ReadonlyMap<string, readonly string[]>>
  request(field: string, value: string): void
}

/** The properties of a field's input. The page generates ids itself, because names come from the server. */
export interface InputProps {
  readonly id: string
  readonly field: Field
  readonly draft: Draft
  /** The ids of the elements that describe the input. */
  readonly describedBy: string | undefined
  readonly isInvalid: boolean
  readonly completions?: Completions | undefined
  readonly onDraft: (draft: Draft) => void
}
