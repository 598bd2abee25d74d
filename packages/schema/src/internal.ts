/**
 * For the other packages of this repository. May change in any release.
 *
 * @module @x/schema/internal
 */

export {
  type Choice,
  choicesOf,
  describeFieldMismatch,
  fieldKeywordsOf,
  type FieldKind,
  type FieldValue,
  isFieldValue,
} from './client/field-rules.ts'
export { textFormats } from './client/elicitation-schema.ts'
export { capabilityNamesOf } from './basic/missing-capabilities.ts'
export { subscriptionIdOf } from './patterns/subscriptions.ts'
export { loggingLevels, metaIn, severityOf } from './basic/meta.ts'
export { encodePieces, type MessagePieces } from './messages/encode-message.ts'
export { omitInvalidItems } from './methods/list-items.ts'
export { findErrorResponse, parseBatch } from './messages/parse-message.ts'
export { resolveReference, withoutRootReference } from './json-schema/schema-references.ts'
export { collectSubschemas, mapSubschemas, type Subschema } from './json-schema/subschemas.ts'
export { flattenObjectInput, type ObjectInput, toObjectInput } from './json-schema/object-input.ts'
export {
  hasLookAround,
  isModelFormat,
  isModelPropertyName,
  isToolFor,
  maxModelTools,
  patternsOf,
  refusedRootKeywords,
} from './json-schema/model-rules.ts'
