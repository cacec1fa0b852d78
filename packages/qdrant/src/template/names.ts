/** On a collection: the template that it was made from, or `none`. */
export const TEMPLATE_LABEL = 'qdrant.operator/template';

/** What stands there if it was made without one. A template of this name could not be told from none. */
export const NO_TEMPLATE = 'none';

/** The name of a template has to fit into a label. */
export const LONGEST_LABEL = 63;
