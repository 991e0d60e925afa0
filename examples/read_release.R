# Read the rows of a release with the types that its datapackage.json declares. Needs the package jsonlite.
#
#   source("read_release.R")
#   visits <- read_release("release")

read_release <- function(folder, resource = 1) {
  package <- jsonlite::fromJSON(file.path(folder, "datapackage.json"), simplifyVector = FALSE)
  described <- package$resources[[resource]]
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
    labels <- vapply(field$categories, function(each) if (is.list(each)) each$value else as.character(each), "")
    return(factor(cells, levels = labels, ordered = isTRUE(field$categoriesOrdered)))
  }
  switch(field$type,
    integer = as.integer(cells),
    number = as.numeric(cells),
    boolean = cells == "true",
    date = as.Date(cells),
    datetime = as.POSIXct(cells, format = "%Y-%m-%dT%H:%M:%S", tz = "UTC"),
    cells
  )
}
