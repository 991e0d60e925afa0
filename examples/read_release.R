# Read the rows of a release with the types that its datapackage.json declares. Needs the package jsonlite.
#
#   source("read_release.R")
#   visits <- read_release("release")
#   persons <- read_release("linked_release", "persons")    # one of several linked tables

read_release <- function(folder, resource = 1) {
  package <- jsonlite::fromJSON(file.path(folder, "datapackage.json"), simplifyVector = FALSE)
  names(package$resources) <- vapply(package$resources, function(each) each$name, "")
  described <- package$resources[[resource]]
  if (described$format != "csv") {
    stop("These rows are in Parquet: read them with arrow::read_parquet(file.path(folder, \"synthetic.parquet\")).")
  }
  rows <- utils::read.csv(
    file.path(folder, described$path),
    colClasses = "character", na.strings = "", check.names = FALSE, fileEncoding = "UTF-8"
  )
  for (field in described$schema$fields) {
    if (field$name %in% names(rows)) {
      rows[[field$name]] <- typed(rows[[field$name]], field)
    }
  }
  rows
}

typed <- function(cells, field) {
  if (!is.null(field$categories)) {
    return(factor(cells, levels = vapply(field$categories, spelled, ""), ordered = isTRUE(field$categoriesOrdered)))
  }
  switch(field$type,
    integer = whole(cells),
    number = as.numeric(cells),
    boolean = cells == "true",
    date = as.Date(cells),
    datetime = as.POSIXct(cells, format = "%Y-%m-%dT%H:%M:%OS", tz = "UTC"),
    cells
  )
}

# A label as it is written in the rows: never in scientific notation.
spelled <- function(label) if (is.character(label)) label else format(label, digits = 15, scientific = FALSE)

# Integers, or doubles where R's integers are too short.
whole <- function(cells) {
  numbers <- as.numeric(cells)
  if (any(abs(numbers) > .Machine$integer.max, na.rm = TRUE)) numbers else as.integer(numbers)
}
