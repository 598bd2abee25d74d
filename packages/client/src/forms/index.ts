/**
 * Forms that servers ask for, as fields to show.
 *
 * @module @x/client/forms
 */

export type { Choice } from '@x/schema/internal'
export {
  type BooleanField,
  type ChoiceField,
  type MultiChoiceField,
  type FieldBase,
  type FormDescription,
  type FormCheck,
  type FormField,
  labelFromName,
  type NumberField,
  readForm,
  type TextField,
} from './form.ts'
