export const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
